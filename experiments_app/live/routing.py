from django.urls import path, re_path

from experiments_app.live.consumers import NoSuchSocket, RunConsumer

websocket_urlpatterns = [
    path("ws/runs/<int:number>/", RunConsumer.as_asgi()),
    re_path(r"", NoSuchSocket.as_asgi()),
]

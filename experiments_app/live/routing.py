from django.urls import path

from experiments_app.live.consumers import RunConsumer

websocket_urlpatterns = [path("ws/runs/<int:number>/", RunConsumer.as_asgi())]

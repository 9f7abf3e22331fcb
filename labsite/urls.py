from django.urls import include, path

urlpatterns = [path("", include("experiments_app.web.urls"))]

from django.urls import path

from projects.views import documents, history, reader, uploads

urlpatterns = [
    path("", documents.document_list, name="document-list"),
    path("add/", uploads.add, name="document-add"),
    path("upload/", uploads.upload, name="document-upload"),
    path("paste/", uploads.paste, name="document-paste"),
    path("delete/", documents.delete_several, name="documents-delete"),
    path("<int:document_id>/", reader.document, name="document"),
    path("<int:document_id>/raw/", reader.raw, name="document-raw"),
    path("<int:document_id>/rename/", documents.rename, name="document-rename"),
    path("<int:document_id>/delete/", documents.delete, name="document-delete"),
    path("<int:document_id>/history/", history.history, name="document-history"),
    path("<int:document_id>/diff/", history.diff, name="document-diff"),
    path("<int:document_id>/versions/<int:number>/", reader.version, name="document-version"),
]

-- The largest data of a subject bounds the pages of its history. What is no frame of its own is never larger by much.
create index history_versions_by_size on views.history_versions (subject, octet_length(data::text) desc)
  where frame = ordinal and data is not null;

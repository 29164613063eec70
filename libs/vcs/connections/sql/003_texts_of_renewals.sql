-- SHA-256 of the text that the host has granted with the renewal. If the stored text is another one, a process of an earlier
-- version has stored it, and it must not be renewed.
alter table connections.token_renewals add column text_sha256 text;

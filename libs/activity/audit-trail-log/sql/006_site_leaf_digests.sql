-- The log of the site is searched by the digest of a checkpoint, which is the second half of a leaf.
create index site_leaves_digest on audit_trail.site_leaves using hash (substring(leaf from 33));

-- The log of a plan that begins again continues. `fence` is the claim of a chunk, and `base` is where the output of this claim begins.
alter table runs.log_chunks add column fence integer, add column base bigint not null default 0;

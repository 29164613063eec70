-- SHAs of the open pull requests by their numbers; null before the first read
alter table commits.followed add column pull_requests jsonb;

import { z } from 'zod';
import type { HostPullRequest } from './git-host.js';
import { hostRows, hostText, shorten, webAddress } from './host-texts.js';

const MAX_TITLE_CHARACTERS = 500;

/** A branch of a pull request, and its newest commit. */
type PullRequestSide = { readonly ref: string; readonly sha: string };

/** Returns the schema of a page of pull requests. Those that do not fit are null, and left out. */
export const pullRequestRows = <H extends z.ZodType<PullRequestSide>, B extends z.ZodType<PullRequestSide>>(
  head: H,
  base: B,
) =>
  hostRows(
    z
      .object({
        number: z.int().positive(),
        title: z.string(),
        html_url: webAddress,
        user: z.object({ login: hostText(255) }).nullish(),
        head,
        base,
      })
      .nullable()
      .catch(null),
  );

type PullRequestRow = {
  readonly number: number;
  readonly title: string;
  readonly html_url: string;
  readonly user?: { readonly login: string } | null | undefined;
  readonly head: PullRequestSide;
  readonly base: PullRequestSide;
};

export const toHostPullRequest = (
  { number, title, html_url, user, head, base }: PullRequestRow,
  isFork: boolean,
): HostPullRequest => ({
  number,
  title: shorten(title, MAX_TITLE_CHARACTERS),
  url: html_url,
  sha: head.sha,
  branch: head.ref,
  baseBranch: base.ref,
  isFork,
  author: user?.login ?? null,
});

import { z } from 'zod';
import type { HostBranchCommit } from './git-host.js';
import type { HostRequests } from './host-requests.http.js';
import { sha, shortenMessage } from './host-texts.js';

/** An entry of another type, or a list of entries, has no submodule. */
const submodule = z
  .object({ type: z.literal('submodule'), sha })
  .nullable()
  .catch(null);

type CommitRow = {
  readonly sha: string;
  readonly html_url: string;
  readonly commit: { readonly message: string };
  readonly parents?: readonly { readonly sha: string }[] | null | undefined;
};

/** Returns a commit from a list of GitHub or Gitea. */
export const toBranchCommit = ({ sha: id, html_url: url, commit, parents }: CommitRow): HostBranchCommit => ({
  sha: id,
  parent: parents?.[0]?.sha ?? null,
  message: shortenMessage(commit.message),
  url,
});

/** Returns the SHA of a submodule. GitHub and Gitea have the same API for it. */
export const findSubmoduleInContents = async (
  requests: HostRequests,
  repositoryPath: string,
  id: string,
  path: string,
): Promise<string | null> => {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const address = `${repositoryPath}/contents/${encoded}?ref=${encodeURIComponent(id)}`;
  return (await requests.readOrNull(address, submodule))?.sha ?? null;
};

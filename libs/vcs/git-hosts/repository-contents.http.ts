import { z } from 'zod';
import type { HostRequests } from './host-requests.http.js';
import { sha } from './host-texts.js';

/** An entry of another type, or a list of entries, has no submodule. */
const submodule = z
  .object({ type: z.literal('submodule'), sha })
  .nullable()
  .catch(null);

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

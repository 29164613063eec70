import { countFileKeys, EncryptedBlobs } from '#storage/blob-store';
import { countKeyUses, listEncryptedColumns, type KeyUse } from '#storage/event-store';
import { ENCRYPTED_FILES, moduleDefinitions } from '../../modules.js';
import type { Runtime } from '../../runtime.js';

/** Numbers of values by their key. `kind` is a table, or the beginning of the keys of files. */
export type KeyUseOfKind = KeyUse & { readonly kind: string };

/** Counts everything that is encrypted with a key of the site. Reads the beginning of every file. */
export const countAllKeyUses = async (
  { store, blobs, encryptionKeys }: Runtime,
  onFile: (prefix: string) => void,
): Promise<readonly KeyUseOfKind[]> => {
  const uses: KeyUseOfKind[] = [];
  for (const column of listEncryptedColumns(moduleDefinitions)) {
    uses.push({ kind: column.table, ...(await countKeyUses(store.database, encryptionKeys, column)) });
  }
  const files = new EncryptedBlobs(blobs, encryptionKeys);
  for (const segment of ENCRYPTED_FILES) {
    uses.push({ kind: segment, ...(await countFileKeys(files, encryptionKeys, segment, () => onFile(segment))) });
  }
  return uses;
};

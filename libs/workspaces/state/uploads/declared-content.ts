import { unprocessable } from '#platform/kernel';

type StateIdentity = { readonly serial: number; readonly lineage: string | null };

/**
 * Rejects a declared serial or lineage that contradicts the state file. Clients continue from the file: they add 1 to its
 * serial, and send its lineage. If the declared serial were higher than that of the file, the next apply would change
 * infrastructure before its upload is refused.
 *
 * A lower serial is accepted, because migration tools number the versions themselves. They may also declare another
 * lineage, as the tests of go-tfe do, so the lineage is compared only if the serials are equal. Later versions are always
 * compared with the lineage of the file (libs/workspaces/workspaces/workspaces/state-head.ts).
 */
export const checkDeclaredContent = ({ serial, lineage }: StateIdentity, file: StateIdentity): void => {
  if (serial > file.serial) {
    throw unprocessable(`Serial ${serial} is above the serial of the state file, ${file.serial}`, 'serial');
  }
  if (serial === file.serial && lineage !== null && file.lineage !== null && lineage !== file.lineage) {
    throw unprocessable(`Lineage ${lineage} is not the lineage of the state file, ${file.lineage}`, 'lineage');
  }
};

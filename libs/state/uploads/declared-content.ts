import { unprocessable } from '#kernel';

type StateIdentity = { readonly serial: number; readonly lineage: string | null };

/**
 * Rejects a declaration that the state file contradicts. Clients continue from the file: they add 1 to its serial, and
 * send its lineage. After a declared serial above that of the file, the next apply would change infrastructure and only
 * then be refused.
 *
 * A serial below that of the file is accepted: migration tools number the versions themselves. Their lineage is a label
 * too, as in go-tfe's own tests, so it is compared only if the serial is that of the file. Later versions are compared
 * with the lineage of the file in any case (libs/workspaces/workspaces/state-head.ts).
 */
export const checkDeclaredContent = ({ serial, lineage }: StateIdentity, file: StateIdentity): void => {
  if (serial > file.serial) {
    throw unprocessable(`Serial ${serial} is above the serial of the state file, ${file.serial}`, 'serial');
  }
  if (serial === file.serial && lineage !== null && file.lineage !== null && lineage !== file.lineage) {
    throw unprocessable(`Lineage ${lineage} is not the lineage of the state file, ${file.lineage}`, 'lineage');
  }
};

import { unprocessable } from '#kernel';
import type { ParsedState } from '../reading/state.parser.js';

type DeclaredContent = { readonly serial: number; readonly lineage: string | null };

/**
 * Rejects a declaration that the state file contradicts. Clients continue from the file: they add 1 to its serial, and
 * send its lineage. After a declared serial above that of the file, the next apply would change infrastructure and only
 * then be refused.
 *
 * A serial below that of the file is accepted: migration tools number the versions themselves. Their lineage is a label
 * too, as in go-tfe's own tests, so it is compared only if the serial is that of the file. Later versions are compared
 * with the lineage of the file in any case (libs/workspaces/workspaces/state-head.ts).
 */
export const checkDeclaredContent = ({ serial, lineage }: DeclaredContent, state: ParsedState): void => {
  const { lineage: lineageOfFile } = state.facts;
  if (serial > state.serial) {
    throw unprocessable(`Serial ${serial} is above the serial of the state file, ${state.serial}`, 'serial');
  }
  if (serial === state.serial && lineage !== null && lineageOfFile !== null && lineage !== lineageOfFile) {
    throw unprocessable(`Lineage ${lineage} is not the lineage of the state file, ${lineageOfFile}`, 'lineage');
  }
};

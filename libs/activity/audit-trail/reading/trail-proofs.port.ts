/** A signed checkpoint of a log: the number of its entries, and the signed note. */
export type TrailCheckpoint = { readonly size: number; readonly note: string };

/** A checkpoint follows an entry within this time. */
export const CHECKPOINT_RETRY_SECONDS = 10;

/** A port to the module of transparency logs, for exports with proofs. */
export abstract class TrailProofs {
  /** Returns the newest checkpoint of an organization's log; null if nothing is signed yet. */
  abstract findCheckpoint(organization: string): Promise<TrailCheckpoint | null>;

  /** Returns the inclusion proofs of entries, in the order of their indexes, in the tree of a checkpoint. */
  abstract prove(
    organization: string,
    indexes: readonly number[],
    checkpoint: TrailCheckpoint,
  ): Promise<readonly (readonly Buffer[])[]>;
}

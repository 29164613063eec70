/** A column whose values are encrypted with an Envelope. `id` is the column with the id that each value is bound to. */
export type EncryptedColumn = {
  /** Schema and table, for example `vault.secrets`. */
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** The purpose of the Envelope. */
  readonly purpose: string;
};

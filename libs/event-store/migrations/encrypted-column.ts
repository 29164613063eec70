/** A column whose values are encrypted with an Envelope: `id` names the column that each value is bound to. */
export type EncryptedColumn = {
  /** Schema and table, for example `vault.secrets`. */
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** The purpose that the Envelope was made with. */
  readonly purpose: string;
};

/** How a run signs in to Vault or OpenBao with its token (the auth method `jwt`). */
export type VaultLogin = {
  readonly address: string;
  /** Empty for the root namespace. */
  readonly namespace: string;
  /** Where the auth method is mounted: `jwt`. */
  readonly path: string;
  readonly role: string;
  /** Certificates to trust (PEM). Null for those of the system. */
  readonly authority: string | null;
  /** The JSON Web Token of the run. */
  readonly token: string;
};

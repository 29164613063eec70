/** Another way to sign in: an identity provider. The paths are pages of this server that start something. */
export type SignInOption = {
  readonly id: string;
  readonly name: string;
  /** The issuer of the identities that the provider proves. */
  readonly issuer: string;
  /** Starts a sign-in. */
  readonly path: string;
  /** Starts to link the account of a signed-in person. */
  readonly linkPath: string;
  /** Leads to the provider's own sign-out. */
  readonly signOutPath: string;
};

/** A port: the module that offers identity providers implements it. */
export abstract class SignInOptions {
  /** Returns the providers with which people can sign in now. Contacts none of them. */
  abstract listOptions(): Promise<readonly SignInOption[]>;
}

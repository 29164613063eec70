/** Another way to sign in, such as an identity provider. `path` is a page that starts it. */
export type SignInOption = { readonly name: string; readonly path: string };

/** A port: modules that offer other ways to sign in implement it. */
export abstract class SignInOptions {
  /** Returns the ways that the sign-in page lists. */
  abstract listOptions(): Promise<readonly SignInOption[]>;
}

/** For sites without other ways. */
export class NoSignInOptions implements SignInOptions {
  listOptions(): Promise<readonly SignInOption[]> {
    return Promise.resolve([]);
  }
}

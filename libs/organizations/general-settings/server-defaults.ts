/** What the configuration of the server says about general settings. */
export abstract class ServerDefaults {
  /** Requests per second for each token; null for no limit. */
  abstract readonly rateLimit: number | null;
  /** Workers of this gateway that share the requests of a token. */
  abstract readonly workers: number;
  /** Whether only administrators of the site create organizations. */
  abstract readonly isCreationLimited: boolean;
  abstract readonly requiresTwoFactor: boolean;
  /** Whether new workspaces share their state with the whole organization. */
  abstract readonly globalRemoteState: boolean;
  /** Organizations that a user can own; null for any number. */
  abstract readonly organizationsPerUser: number | null;
}

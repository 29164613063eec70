/** `provider`: the identity provider that manages the users. `orNone`: users that no provider manages count too. */
export type UserSource = { readonly provider: string; readonly orNone: boolean };

/** Port for users that an identity provider manages by another protocol, such as SCIM. */
export abstract class ProvisionedUsers {
  /** Returns the id of the user with this id at the identity provider; null if nobody has it. */
  abstract findUserByExternalId(externalId: string, by: UserSource): Promise<string | null>;

  /** Returns the groups of the user that this protocol has stated. They count besides those of sign-ins. */
  abstract listGroups(user: string): Promise<readonly string[]>;
}

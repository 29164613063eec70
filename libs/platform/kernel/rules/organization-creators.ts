/** Who may create organizations: everybody who has an account, or administrators of the site. */
export const ORGANIZATION_CREATORS = ['everyone', 'administrators'] as const;
type OrganizationCreators = (typeof ORGANIZATION_CREATORS)[number];

/** The setting CADASTRE_ORGANIZATION_CREATORS. This class is its injection token. */
export abstract class OrganizationCreation {
  abstract readonly creators: OrganizationCreators;
}

export const mayCreateOrganizations = (
  { creators }: OrganizationCreation,
  { siteAdmin }: { readonly siteAdmin: boolean },
): boolean => siteAdmin || creators === 'everyone';

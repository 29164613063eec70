export const NO_ORGANIZATION_CHANGE = 'Only owners of the organization may change this.';

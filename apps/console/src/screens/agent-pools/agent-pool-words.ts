/** The right that changes of pools need. */
export const NO_POOL_CHANGE = 'You need a team that may manage agent pools, or to be an owner of the organization.';

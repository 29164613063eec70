type ShownObject = Readonly<Record<string, unknown>>;

const CHECK_STATUSES = ['pass', 'fail', 'error', 'unknown'] as const;

/** How the resources and the checks of a state compare with what exists. */
export type AssessedPlan = {
  readonly resourcesDrifted: number;
  readonly resourcesUndrifted: number;
  readonly checks: Readonly<Record<(typeof CHECK_STATUSES)[number], number>>;
};

const isObject = (value: unknown): value is ShownObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listObjects = (value: unknown): readonly ShownObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Whether something other than terraform has changed or deleted the resource. A resource that only has another address has not drifted. */
const hasDrifted = ({ mode, change }: ShownObject): boolean => {
  const actions = isObject(change) ? change['actions'] : [];
  return mode === 'managed' && Array.isArray(actions) && actions.some((action) => action !== 'no-op');
};

/** Returns the addresses of the resources that terraform manages, those of modules included. */
const listManaged = (module: unknown): readonly unknown[] =>
  isObject(module)
    ? [
        ...listObjects(module['resources'])
          .filter(({ mode }) => mode === 'managed')
          .map(({ address }) => address),
        ...listObjects(module['child_modules']).flatMap(listManaged),
      ]
    : [];

const listManagedOf = ({ prior_state: state }: ShownObject): readonly unknown[] =>
  isObject(state) && isObject(state['values']) ? listManaged(state['values']['root_module']) : [];

/** Counts what `terraform show -json` says of a plan that only refreshes. Versions before 1.5 have no checks. */
export const assessPlan = (plan: ShownObject): AssessedPlan => {
  const drifted = new Set(
    listObjects(plan['resource_drift'])
      .filter(hasDrifted)
      .map(({ address }) => address),
  );
  const statuses = listObjects(plan['checks']).map(({ status }) => status);
  const count = (status: (typeof CHECK_STATUSES)[number]): number => statuses.filter((one) => one === status).length;
  return {
    resourcesDrifted: drifted.size,
    // The state of the plan has what the refresh has found, so it lacks resources that are gone.
    resourcesUndrifted: new Set(listManagedOf(plan).filter((address) => !drifted.has(address))).size,
    checks: { pass: count('pass'), fail: count('fail'), error: count('error'), unknown: count('unknown') },
  };
};

import { z } from 'zod';

/** A resource that a plan changes. */
export type ChangedResource = {
  readonly address: string;
  readonly kind: 'create' | 'update' | 'destroy' | 'replace' | 'forget';
};

const document = z.object({
  resource_changes: z.array(z.object({ address: z.string(), change: z.object({ actions: z.array(z.string()) }) })),
});

const toKind = (actions: readonly string[]): ChangedResource['kind'] | null => {
  if (actions.length > 1) return 'replace';
  const [action = ''] = actions;
  if (action === 'delete') return 'destroy';
  return action === 'create' || action === 'update' || action === 'forget' ? action : null;
};

/**
 * Returns the changes of a redacted plan in the JSON format of terraform, without resources that only are read or stay; null if the plan has
 * another form.
 */
export const listChangedResources = (plan: unknown): readonly ChangedResource[] | null =>
  document.safeParse(plan).data?.resource_changes.flatMap(({ address, change }) => {
    const kind = toKind(change.actions);
    return kind ? [{ address, kind }] : [];
  }) ?? null;

import type { WorkspaceSettings } from './workspace-settings.js';

/**
 * Automatic destruction of a workspace's resources: by a time and an idle duration of its own, or by its project's
 * duration.
 */
type AutoDestroy = Pick<
  WorkspaceSettings,
  'autoDestroyActivityDuration' | 'autoDestroyAt' | 'inheritsProjectAutoDestroy'
>;

/** Returns whether the workspace has a time or a duration of its own. */
export const hasOwnAutoDestroy = ({ autoDestroyActivityDuration: duration, autoDestroyAt: at }: AutoDestroy): boolean =>
  duration !== null || at !== null;

/** Returns whether the workspace inherits: as set, and by default if it has no time or duration of its own. */
export const inheritsAutoDestroy = (settings: AutoDestroy): boolean =>
  settings.inheritsProjectAutoDestroy ?? !hasOwnAutoDestroy(settings);

/**
 * Returns the changes of a request. A time or duration of its own ends the inheritance, and removing both restores it.
 * A request can also set the inheritance, which removes the workspace's own values.
 */
export const resolveAutoDestroy = (
  before: AutoDestroy,
  {
    autoDestroyActivityDuration: duration = before.autoDestroyActivityDuration,
    autoDestroyAt: at = before.autoDestroyAt,
    inheritsProjectAutoDestroy: inheritance,
  }: { readonly [Key in keyof AutoDestroy]?: AutoDestroy[Key] | undefined },
): AutoDestroy => {
  const after = {
    autoDestroyActivityDuration: inheritance === true ? null : duration,
    autoDestroyAt: inheritance === true ? null : at,
  };
  const back = hasOwnAutoDestroy(before) && !hasOwnAutoDestroy(after);
  const inherits = inheritance ?? (!hasOwnAutoDestroy(after) && (back || inheritsAutoDestroy(before)));
  // The default is not recorded, because older events and snapshots do not have it.
  const isDefault = inherits === inheritsAutoDestroy({ ...before, ...after });
  return isDefault ? after : { ...after, inheritsProjectAutoDestroy: inherits };
};

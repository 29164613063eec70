import type { WorkspaceSettings } from './workspace-settings.js';

/** When what a workspace manages is destroyed: by a time and an idle duration of its own, or as its project says. */
type AutoDestroy = Pick<
  WorkspaceSettings,
  'autoDestroyActivityDuration' | 'autoDestroyAt' | 'inheritsProjectAutoDestroy'
>;

const hasOwnAutoDestroy = ({ autoDestroyActivityDuration: duration, autoDestroyAt: at }: AutoDestroy): boolean =>
  duration !== null || at !== null;

/** Unless it has been told, it inherits as long as it has nothing of its own. */
export const inheritsAutoDestroy = (settings: AutoDestroy): boolean =>
  settings.inheritsProjectAutoDestroy ?? !hasOwnAutoDestroy(settings);

/**
 * What a request makes of it. Something of its own takes a workspace off its project, and giving that up brings it back;
 * it may also be told to inherit, and has then nothing of its own, or not to.
 */
export const resolveAutoDestroy = (
  before: AutoDestroy,
  {
    autoDestroyActivityDuration: duration = before.autoDestroyActivityDuration,
    autoDestroyAt: at = before.autoDestroyAt,
    inheritsProjectAutoDestroy: told,
  }: { readonly [Key in keyof AutoDestroy]?: AutoDestroy[Key] | undefined },
): AutoDestroy => {
  const after = {
    autoDestroyActivityDuration: told === true ? null : duration,
    autoDestroyAt: told === true ? null : at,
  };
  const back = hasOwnAutoDestroy(before) && !hasOwnAutoDestroy(after);
  const inherits = told ?? (!hasOwnAutoDestroy(after) && (back || inheritsAutoDestroy(before)));
  // What goes without saying is not said: events and snapshots of old do not have it.
  const goesWithoutSaying = inherits === inheritsAutoDestroy({ ...before, ...after });
  return goesWithoutSaying ? after : { ...after, inheritsProjectAutoDestroy: inherits };
};

/** Returns words for a name of the API: `manage-workspaces` and `plan_queued` are `Manage workspaces` and `Plan queued`. */
export const formatName = (name: string): string => {
  const words = name.replaceAll(/[-_]/g, ' ').replace(/\bvcs\b/, 'VCS');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

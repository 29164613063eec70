import { useQuery } from '@tanstack/react-query';
import { useLocation, useParams } from '@tanstack/react-router';
import { findIncluded } from '../api/included.js';
import { workspaceQuery } from '../api/workspaces.js';
import { findNavigationEntry, getOrganizationPath, getScreenPath } from '../navigation.js';

type Breadcrumb = { readonly label: string; readonly to: string };

/** The project of a workspace. It has a screen that lists its workspaces. */
const useProjectOf = (organization: string | null, workspace: string | undefined): Breadcrumb | null => {
  const { data } = useQuery({
    ...workspaceQuery(organization ?? '', workspace ?? ''),
    enabled: organization !== null && workspace !== undefined,
  });
  const project = data && findIncluded(data, data.data.relationships.project.data);
  if (!project) return null;
  return { label: project.attributes.name, to: `/${organization ?? ''}/projects/${project.id}` };
};

/**
 * The screens above the present one, from the top: the organization, and the project of a workspace or the screen of the
 * navigation. Addresses that begin with `~` belong to no organization.
 */
export const useBreadcrumbs = (): readonly Breadcrumb[] => {
  const path = useLocation({ select: ({ pathname }) => pathname.replace(/\/$/, '') });
  const { organization, workspace } = useParams({
    strict: false,
    select: (params) => ({ organization: params.organization ?? null, workspace: params.workspace }),
  });
  const isSite = path.startsWith('/~site/');
  const project = useProjectOf(organization, workspace);
  if (isSite) return [{ label: 'Site', to: '/~site' }];
  if (organization === null || organization.startsWith('~')) return [];
  const top = { label: organization, to: getOrganizationPath(organization) };
  const entry = findNavigationEntry(path.slice(top.to.length + 1));
  const section = entry && { label: entry.label, to: getScreenPath(organization, entry) };
  if (workspace !== undefined) return [top, ...(project ? [project] : section ? [section] : [])];
  return [top, section].filter((each) => each !== undefined && each.to !== path) as readonly Breadcrumb[];
};

import { Link, useParams } from '@tanstack/react-router';
import { createContext, useContext } from 'react';
import type { NamesById } from '../api/resource-names.js';

/** The names that the screen has read. */
export const ResourceNamesContext = createContext<NamesById>(new Map());

/** The name of a resource, or its id if the screen has no name. Names of projects lead to the project. */
export const ResourceName = ({ id }: { readonly id: string }) => {
  const name = useContext(ResourceNamesContext).get(id);
  const organization = useParams({ strict: false, select: (params) => params.organization });
  if (name === undefined) return <code>{id}</code>;
  if (organization === undefined || !id.startsWith('prj-')) return <span title={id}>{name}</span>;
  return (
    <Link title={id} to="/$organization/projects/$project" params={{ organization, project: id }}>
      {name}
    </Link>
  );
};

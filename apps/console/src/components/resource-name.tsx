import { createContext, useContext } from 'react';
import type { NamesById } from '../api/resource-names.js';

/** The names that the screen has read. */
export const ResourceNamesContext = createContext<NamesById>(new Map());

/** The name of a resource, or its id if the screen has no name. */
export const ResourceName = ({ id }: { readonly id: string }) => {
  const name = useContext(ResourceNamesContext).get(id);
  return name === undefined ? <code>{id}</code> : <span title={id}>{name}</span>;
};

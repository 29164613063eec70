import { notFound } from '../errors/refusal.js';

/** Returns the state of an aggregate that exists. Throws 404 for one that was never created or that was deleted. */
export const requireActive = <State extends { readonly status: string }>(
  state: State,
): Extract<State, { readonly status: 'active' }> => {
  if (state.status !== 'active') throw notFound();
  return state as Extract<State, { readonly status: 'active' }>;
};

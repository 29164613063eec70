/** The web console: the page after a sign-in that no other page has requested. */
export const HOME = '/app';

/** Returns the path of the page after a successful step of a sign-in. `returnTo`: the page that the person wants. */
export const getNextPath = (outcome: 'signed-in' | 'needs-second-factor', returnTo: string | null): string => {
  if (outcome === 'signed-in') return returnTo ?? HOME;
  return `/sign-in/second-factor${returnTo === null ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`;
};

import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../parent-routes.js';

export const profileRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~account',
  component: lazyRouteComponent(() => import('./profile.screen.js'), 'ProfileScreen'),
});

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~account/sign-in',
  component: lazyRouteComponent(() => import('./sign-in.screen.js'), 'SignInScreen'),
});

export const changesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~account/changes',
  component: lazyRouteComponent(() => import('./changes.screen.js'), 'ChangesScreen'),
});

export const sessionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~account/sessions',
  component: lazyRouteComponent(() => import('./sessions.screen.js'), 'SessionsScreen'),
});

export const ownTokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/~account/tokens',
  component: lazyRouteComponent(() => import('./tokens.screen.js'), 'OwnTokensScreen'),
});

/** The address that `terraform login` opens for servers without OAuth. No screen of an organization has this path. */
export const terraformTokensRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/tokens',
  beforeLoad: () => {
    redirect({ to: '/~account/tokens', replace: true, throw: true });
  },
});

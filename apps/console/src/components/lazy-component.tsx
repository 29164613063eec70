import { lazy, Suspense, type ComponentType, type ReactNode } from 'react';

type PropsOf<C> = C extends ComponentType<infer P> ? P : never;

/**
 * Returns a component whose code is loaded when it is first shown. `name`: its export. `loading`: what is on the screen
 * meanwhile.
 */
export const lazyComponent = <M extends Readonly<Record<K, ComponentType<never>>>, K extends string>(
  load: () => Promise<M>,
  name: K,
  loading: ReactNode = null,
) => {
  const Loaded = lazy(async () => ({ default: (await load())[name] as ComponentType<object> }));
  const LazyComponent = (props: PropsOf<M[K]> & object) => (
    <Suspense fallback={loading}>
      <Loaded {...props} />
    </Suspense>
  );
  return LazyComponent;
};

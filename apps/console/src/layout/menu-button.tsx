import {
  cloneElement,
  Suspense,
  useState,
  type ComponentType,
  type LazyExoticComponent,
  type ReactElement,
} from 'react';

type MenuTarget = ReactElement<Record<string, unknown>>;

export type MenuProps = {
  /** The button that opens the menu. */
  readonly children: MenuTarget;
};

type MenuButtonProps = {
  readonly button: MenuTarget;
  /** The menu, which opens at once. */
  readonly menu: LazyExoticComponent<ComponentType<MenuProps>>;
};

/** A button that loads the code of its menu when it is first pressed. Menus are a seventh of the first view. */
export const MenuButton = ({ button, menu: LoadedMenu }: MenuButtonProps) => {
  const [isNeeded, setNeeded] = useState(false);
  const closed = cloneElement(button, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick: () => setNeeded(true),
  });
  if (!isNeeded) return closed;
  return (
    <Suspense fallback={closed}>
      <LoadedMenu>{button}</LoadedMenu>
    </Suspense>
  );
};

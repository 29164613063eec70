import { cloneElement, Suspense, useState, type ReactElement, type ReactNode } from 'react';

type MenuTarget = ReactElement<Record<string, unknown>>;

export type MenuProps = {
  /** The button that opens the menu. */
  readonly children: MenuTarget;
};

type MenuButtonProps = {
  readonly button: MenuTarget;
  /** Renders the lazily loaded menu of the button, which opens at once. */
  readonly children: (button: MenuTarget) => ReactNode;
};

/** A button that loads the code of its menu when it is first pressed. Menus are a seventh of the first view. */
export const MenuButton = ({ button, children }: MenuButtonProps) => {
  const [isNeeded, setNeeded] = useState(false);
  const closed = cloneElement(button, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick: () => setNeeded(true),
  });
  return isNeeded ? <Suspense fallback={closed}>{children(button)}</Suspense> : closed;
};

import { ActionIcon, Burger, Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, useEffect, useLayoutEffect, useState } from 'react';
import { isSignInDemanded, useSignInDemand } from '../api/session.js';
import { useSignedOut } from '../api/sign-out.js';
import { AutoIcon, ChevronDownIcon, UserIcon } from '../components/icons.js';
import { lazyComponent } from '../components/lazy-component.js';
import { ToastOutlet } from '../components/toast-outlet.js';
import { useUnsavedPrompt } from '../components/unsaved.js';
import { dropEarlyKeys, keepEarlyKeys } from '../shortcuts/early-keys.js';
import { useShortcut } from '../shortcuts/shortcuts.js';
import { DialogContext, type LayoutDialog } from './dialogs.js';
import { MenuButton } from '../components/menu-button.js';
import { NavigationLinks } from './navigation-links.js';
import { SearchButton } from './search-button.js';
import classes from './layout.module.css';

/** Also waits until the tab is in front. */
const waitForPaint = (): Promise<void> =>
  new Promise((resolve) => void requestAnimationFrame(() => setTimeout(resolve)));

const loadPalette = () => import('../palette/command-palette.js');
const CommandPalette = lazyComponent(loadPalette, 'CommandPalette');
const ShortcutsDialog = lazyComponent(() => import('./shortcuts-dialog.js'), 'ShortcutsDialog');
const AccountMenu = lazy(async () => ({ default: (await import('./account-menu.js')).AccountMenu }));
const ColorSchemeMenu = lazy(async () => ({ default: (await import('./color-scheme-menu.js')).ColorSchemeMenu }));
const LiveUpdates = lazyComponent(async () => {
  await waitForPaint();
  return import('../live/live-updates.js');
}, 'LiveUpdates');
const OrganizationMenu = lazy(async () => ({ default: (await import('./organization-menu.js')).OrganizationMenu }));
const SignedOut = lazyComponent(() => import('./signed-out.js'), 'SignedOut');
const UnsavedDialog = lazyComponent(() => import('./unsaved-dialog.js'), 'UnsavedDialog');
const SessionDialog = lazyComponent(() => import('./session-dialog.js'), 'SessionDialog');

/** Loads the palette when a person presses `Ctrl` or `⌘`, so that it appears soon after `mod+K`. */
const usePaletteAtModifier = (): void =>
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent): void => {
      // After a failure, opening the palette loads it again.
      if (key === 'Control' || key === 'Meta') loadPalette().catch(() => undefined);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

/** The dialog that is open, and the function that opens another one. The palette gets the keys directly after `mod+K`. */
const useOpenedDialog = () => {
  const [dialog, setDialog] = useState<LayoutDialog | null>(null);
  useLayoutEffect(() => (dialog === 'palette' ? dropEarlyKeys : undefined), [dialog]);
  const open = (next: LayoutDialog | null): void => {
    if (next === 'palette' && dialog !== 'palette') keepEarlyKeys(() => setDialog(null));
    setDialog(next);
  };
  return { dialog, open };
};

/** Whether a form is open. The palette does not open above it, because the Escape key would close both. */
const isFormOpen = (): boolean => isSignInDemanded() || document.querySelector('[role="dialog"] form') !== null;

const useDialogs = () => {
  const { dialog, open } = useOpenedDialog();
  const navigate = useNavigate();
  usePaletteAtModifier();
  const openPalette = () => {
    if (!isFormOpen()) open('palette');
  };
  useHotkeys([['mod+K', openPalette]], []);
  useShortcut({ keys: '?', label: 'Show the shortcuts', run: () => open('shortcuts') });
  useShortcut({ keys: 'g o', label: 'Go to organizations', run: () => void navigate({ to: '/' }) });
  return { dialog, open };
};

type HeaderProps = {
  readonly organization: string | null;
  readonly isMenuOpen: boolean;
  readonly onMenu: () => void;
  readonly onSearch: () => void;
};

const Header = ({ organization, isMenuOpen, onMenu, onSearch }: HeaderProps) => (
  <header className={classes['header']}>
    {organization !== null && (
      <Burger
        opened={isMenuOpen}
        onClick={onMenu}
        hiddenFrom="sm"
        size="sm"
        aria-label="Navigation"
        aria-expanded={isMenuOpen}
      />
    )}
    <Link to="/" className={classes['brand']} aria-label="Cadastre: your organizations">
      <img src="/pages/icon.svg" alt="" width={28} height={28} />
      <span className={classes['name']}>Cadastre</span>
    </Link>
    <MenuButton
      button={
        <Button
          variant="subtle"
          color="gray"
          size="compact-md"
          className={classes['switcher']}
          rightSection={<ChevronDownIcon size={14} />}
        >
          {organization ?? 'Organizations'}
        </Button>
      }
    >
      {(button) => <OrganizationMenu>{button}</OrganizationMenu>}
    </MenuButton>
    <span className={classes['space']} />
    {organization !== null && <LiveUpdates organization={organization} />}
    <SearchButton onOpen={onSearch} />
    <MenuButton
      button={
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Colors">
          <AutoIcon />
        </ActionIcon>
      }
    >
      {(button) => <ColorSchemeMenu>{button}</ColorSchemeMenu>}
    </MenuButton>
    <MenuButton
      button={
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Account">
          <UserIcon />
        </ActionIcon>
      }
    >
      {(button) => <AccountMenu>{button}</AccountMenu>}
    </MenuButton>
  </header>
);

/** The header, the navigation and the dialogs around every screen. */
const SignedInLayout = () => {
  const organization = useParams({
    strict: false,
    // Addresses that begin with `~` belong to no organization.
    select: (params) => (params.organization?.startsWith('~') ? null : (params.organization ?? null)),
  });
  const path = useLocation({ select: ({ pathname }) => pathname });
  const [openAt, setOpenAt] = useState<string | null>(null);
  // Another screen closes the navigation.
  const isMenuOpen = openAt === path;
  const { dialog, open } = useDialogs();
  const close = () => open(null);
  const signInDemand = useSignInDemand();
  const hasUnsavedPrompt = useUnsavedPrompt() !== null;
  return (
    <DialogContext value={open}>
      <a className={classes['skip']} href="#content">
        Skip to content
      </a>
      <Header
        organization={organization}
        isMenuOpen={isMenuOpen}
        onMenu={() => setOpenAt(isMenuOpen ? null : path)}
        onSearch={() => open('palette')}
      />
      <div className={classes['body']}>
        {organization !== null && (
          <nav className={classes['navigation']} aria-label="Organization" data-open={isMenuOpen || undefined}>
            <NavigationLinks organization={organization} />
          </nav>
        )}
        <main id="content" tabIndex={-1} className={classes['main']}>
          <Outlet />
        </main>
      </div>
      <ToastOutlet />
      {hasUnsavedPrompt && <UnsavedDialog />}
      {signInDemand !== null && <SessionDialog key={signInDemand} demand={signInDemand} />}
      {dialog === 'palette' && <CommandPalette organization={organization} onClose={close} />}
      {dialog === 'shortcuts' && <ShortcutsDialog onClose={close} />}
    </DialogContext>
  );
};

/** The console, until the person signs out in another tab. */
export const ConsoleLayout = () => (useSignedOut() ? <SignedOut /> : <SignedInLayout />);

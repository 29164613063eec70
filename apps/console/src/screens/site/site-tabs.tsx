import { TabLinks } from '../../components/tab-links.js';

const TABS = [
  // One screen a line.
  { label: 'Status', to: '/~site' },
  { label: 'Users', to: '/~site/users' },
  { label: 'Organizations', to: '/~site/organizations' },
  { label: 'Workspaces', to: '/~site/workspaces' },
  { label: 'Executors', to: '/~site/executors' },
  { label: 'Tool versions', to: '/~site/tool-versions' },
  { label: 'Identity providers', to: '/~site/identity-providers' },
  { label: 'SCIM', to: '/~site/scim' },
  { label: 'Settings', to: '/~site/settings' },
  { label: 'Audit trail', to: '/~site/audit-trail' },
] as const;

/** Links between the screens of the site. */
export const SiteTabs = () => <TabLinks label="Site" tabs={TABS} />;

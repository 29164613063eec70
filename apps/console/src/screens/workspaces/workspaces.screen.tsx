import { Page } from '../../components/page.js';

export const WorkspacesScreen = () => <Page title="Workspaces">…</Page>;

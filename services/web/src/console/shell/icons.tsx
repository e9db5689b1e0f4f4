import type { ReactNode } from "react";

const Icon = ({ children, size = 20 }: { children: ReactNode; size?: number }) => (
  <svg
    viewBox="0 0 24 24"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    strokeWidth={1.8}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    {children}
  </svg>
);

export const OverviewIcon = () => (
  <Icon>
    <path d="M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z" />
  </Icon>
);
export const SubscriptionsIcon = () => (
  <Icon>
    <path d="M4 7h16M4 12h16M4 17h10" />
  </Icon>
);
export const InstalledIcon = () => (
  <Icon>
    <path d="M4 5h16v11H4zM9 20h6M12 16v4M9 10.5l2 2 4-4" />
  </Icon>
);
export const StatementsIcon = () => (
  <Icon>
    <path d="M6 3.500h12v17l-3-2-3 2-3-2-3 2zM9 8.500h6M9 12.500h6" />
  </Icon>
);
export const NoticesIcon = () => (
  <Icon>
    <path d="M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15zM10 20.500h4" />
  </Icon>
);
export const AuditIcon = () => (
  <Icon>
    <path d="M6 3.500h9l4 4v13H6zM15 3.500v4h4M9.500 12h6M9.500 16h6" />
  </Icon>
);
export const ThemeIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 3.5a8.5 8.5 0 0 0 0 17z" fill="currentColor" />
  </Icon>
);
export const PersonIcon = () => (
  <Icon>
    <circle cx="12" cy="8" r="3.6" />
    <path d="M4.5 20c1-4 4-5.6 7.5-5.6s6.500 1.600 7.500 5.600" />
  </Icon>
);
export const SelectIcon = () => (
  <Icon size={16}>
    <path d="M7 9l5-5 5 5M7 15l5 5 5-5" />
  </Icon>
);
export const DoneIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M8 12.300l2.700 2.700L16 9.500" />
  </Icon>
);
export const WaitingIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" strokeDasharray="3 4" />
  </Icon>
);
export const FailedIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7.500v5.500M12 16.300v.2" />
  </Icon>
);
export const Logo = () => (
  <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" fill="var(--accent)" />
    <path
      d="M6 17h5l3-8 5 14 3-6h4"
      fill="none"
      stroke="var(--on-accent)"
      strokeWidth="2.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);

export interface RecordedEvent {
  eventId: string;
  event: string;
  organisationId: string;
  vendorId: string;
  subscriptionId: string;
  sequence: number;
  at: Date;
}

/** A delivery that is delivered, failed or expired. */
export interface SettledDelivery {
  id: string;
  subscription_id: string | null;
  created_at: Date;
}

/** An event without a delivery to the recipient. */
export interface MissedEvent {
  event_id: string;
  /** With the recipient, its ordering key; null where the event is outside any sequence. */
  subscription_id: string | null;
}

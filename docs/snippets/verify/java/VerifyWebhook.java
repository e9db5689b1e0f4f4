import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Java 17 or newer. */
public final class VerifyWebhook {
  private static final long TOLERANCE_SECONDS = 300;

  /** X-Marketplace-Signature. The body is the request's raw bytes; secrets are all current secrets. */
  public static boolean verifyBody(byte[] body, String signature, List<String> secrets) {
    return secrets.stream()
        .filter(secret -> !secret.isEmpty())
        .anyMatch(secret -> same(HexFormat.of().formatHex(sign(secret.getBytes(UTF_8), body)), signature));
  }

  /** webhook-id, webhook-timestamp and webhook-signature; now in seconds since 1970. */
  public static boolean verifyStandard(
      String id, String timestamp, String signature, byte[] body, List<String> secrets, long now) {
    if (id.isEmpty() || id.contains(".") || !timestamp.matches("[0-9]{1,12}")) return false;
    if (Math.abs(now - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) return false;

    byte[] head = (id + "." + timestamp + ".").getBytes(UTF_8);
    for (String secret : secrets) {
      byte[] key = keyOf(secret);
      if (key.length == 0) continue;
      String expected = "v1," + Base64.getEncoder().encodeToString(sign(key, head, body));
      for (String given : signature.split(" ")) {
        if (same(expected, given)) return true;
      }
    }
    return false;
  }

  private static byte[] keyOf(String secret) {
    if (!secret.startsWith("whsec_")) return secret.getBytes(UTF_8);
    try {
      return Base64.getDecoder().decode(secret.substring(6));
    } catch (IllegalArgumentException notBase64) {
      return new byte[0];
    }
  }

  private static byte[] sign(byte[] key, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      for (byte[] part : parts) mac.update(part);
      return mac.doFinal();
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static boolean same(String expected, String given) {
    return MessageDigest.isEqual(expected.getBytes(UTF_8), given.getBytes(UTF_8));
  }

  // Test code, not part of the snippet. The JDK has no JSON parser, so it reads the vectors from standard input, nine fields each
  // (name, valid, body, signature, secrets, scheme, id, timestamp, now), each ended by a NUL; secrets by line breaks.
  public static void main(String[] arguments) throws java.io.IOException {
    String[] fields = new String(System.in.readAllBytes(), UTF_8).split("\0", -1);
    int wrong = 0;
    for (int at = 0; at + 9 <= fields.length; at += 9) {
      byte[] body = fields[at + 2].getBytes(UTF_8);
      String signature = fields[at + 3];
      List<String> secrets = fields[at + 4].lines().toList();
      boolean accepted =
          fields[at + 5].equals("marketplace")
              ? verifyBody(body, signature, secrets)
              : verifyStandard(
                  fields[at + 6], fields[at + 7], signature, body, secrets, Long.parseLong(fields[at + 8]));
      if (accepted != Boolean.parseBoolean(fields[at + 1])) {
        wrong++;
        System.out.println("wrong: " + fields[at]);
      }
    }
    System.out.println(fields.length / 9 + " vectors, " + wrong + " wrong");
    System.exit(wrong == 0 ? 0 : 1);
  }
}

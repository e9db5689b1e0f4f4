// .NET 8 or newer.
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

// Test code, not part of the snippet: dotnet run VerifyWebhook.cs vectors.json (.NET 10)
using var vectors = JsonDocument.Parse(File.ReadAllBytes(args[0]));
var (count, wrong) = (0, 0);

void Check(JsonElement vector, bool accepted)
{
    count++;
    if (accepted == vector.GetProperty("valid").GetBoolean()) return;
    wrong++;
    Console.WriteLine($"wrong: {Text(vector, "name")}");
}

foreach (var vector in vectors.RootElement.GetProperty("marketplace").EnumerateArray())
{
    var body = Encoding.UTF8.GetBytes(Text(vector, "body"));
    Check(vector, VerifyWebhook.VerifyBody(body, Text(vector, "signature"), [Text(vector, "secret")]));
}
foreach (var vector in vectors.RootElement.GetProperty("standard").EnumerateArray())
{
    var body = Encoding.UTF8.GetBytes(Text(vector, "body"));
    var secrets = vector.GetProperty("secrets").EnumerateArray().Select(secret => secret.GetString()!).ToArray();
    var now = DateTimeOffset.FromUnixTimeSeconds(vector.GetProperty("now").GetInt64());
    Check(vector, VerifyWebhook.VerifyStandard(
        Text(vector, "id"), Text(vector, "timestamp"), Text(vector, "signature"), body, secrets, now));
}
Console.WriteLine($"{count} vectors, {wrong} wrong");
return wrong == 0 ? 0 : 1;

static string Text(JsonElement vector, string field) => vector.GetProperty(field).GetString()!;

public static class VerifyWebhook
{
    private const long ToleranceSeconds = 300;

    /// <summary>X-Marketplace-Signature. The body is the request's raw bytes; secrets are all current secrets.</summary>
    public static bool VerifyBody(byte[] body, string signature, IEnumerable<string> secrets) =>
        secrets.Where(secret => secret != "").Any(secret =>
            Same(Convert.ToHexString(HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), body)).ToLowerInvariant(), signature));

    /// <summary>webhook-id, webhook-timestamp and webhook-signature.</summary>
    public static bool VerifyStandard(
        string id, string timestamp, string signature, byte[] body, IEnumerable<string> secrets, DateTimeOffset now)
    {
        // NumberStyles.None accepts digits only: no sign, no white space.
        if (!long.TryParse(timestamp, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds)) return false;
        if (id == "" || id.Contains('.')) return false;
        if (Math.Abs(now.ToUnixTimeSeconds() - seconds) > ToleranceSeconds) return false;

        byte[] content = [.. Encoding.UTF8.GetBytes($"{id}.{timestamp}."), .. body];
        return secrets.Select(KeyOf).Where(key => key.Length > 0)
            .Select(key => "v1," + Convert.ToBase64String(HMACSHA256.HashData(key, content)))
            .Any(expected => signature.Split(' ').Any(given => Same(expected, given)));
    }

    private static byte[] KeyOf(string secret)
    {
        if (!secret.StartsWith("whsec_", StringComparison.Ordinal)) return Encoding.UTF8.GetBytes(secret);
        try
        {
            return Convert.FromBase64String(secret[6..]);
        }
        catch (FormatException)
        {
            return [];
        }
    }

    private static bool Same(string expected, string given) =>
        CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(expected), Encoding.UTF8.GetBytes(given));
}

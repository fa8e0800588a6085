package airflow_partitions;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** What a client says and asks by SQL: airflow_partitions_promise('…') and airflow_partitions_reads(), one row of JSON. */
final class TableFunctions {
  private static final String MARK = "airflow_partitions";

  private TableFunctions() {}

  static Tuple3<FunctionIdentifier, ExpressionInfo, Function1<Seq<Expression>, LogicalPlan>> promise() {
    return function("airflow_partitions_promise", 1, (session, arguments) -> {
      Promise promise = Promise.parse(String.valueOf(arguments.get(0).eval(null)));
      if (promise != null) {
        Accounts.of(session).promise(promise, new QueryMetrics(session).next());
        // Else Iceberg answers count, min and max from its metadata, and there is no scan to compare.
        if (promise.strict()) session.conf().set("spark.sql.iceberg.aggregate-push-down.enabled", "false");
      }
      return JsonNodeFactory.instance.objectNode().put("version", Promise.VERSION).put("spark", session.version()).toString();
    });
  }

  static Tuple3<FunctionIdentifier, ExpressionInfo, Function1<Seq<Expression>, LogicalPlan>> reads() {
    return function("airflow_partitions_reads", 0, (session, arguments) -> {
      Events.await(session.sparkContext());
      return Accounts.of(session).json(new QueryMetrics(session));
    });
  }

  /** Whether a plan is nothing but a call of one of these. */
  static boolean alone(LogicalPlan plan) {
    List<Attribute> columns = CollectionConverters.asJava(plan.output());
    return columns.size() == 1
        && columns.get(0).metadata().contains(MARK)
        && CollectionConverters.asJava(plan.collectLeaves()).stream().allMatch(leaf -> leaf instanceof OneRowRelation)
        && CollectionConverters.asJava(plan.subqueriesAll()).isEmpty();
  }

  private static Tuple3<FunctionIdentifier, ExpressionInfo, Function1<Seq<Expression>, LogicalPlan>> function(
      String name, int arguments, BiFunction<SparkSession, List<Expression>, String> answer) {
    Function1<Seq<Expression>, LogicalPlan> plan = seq -> {
      List<Expression> values = CollectionConverters.asJava(seq);
      if (values.size() != arguments || !values.stream().allMatch(Expression::foldable)) {
        throw new IllegalArgumentException(name + " takes " + (arguments == 0 ? "nothing" : "one text of JSON"));
      }
      return row(answer.apply(SparkSession.active(), values));
    };
    return new Tuple3<>(new FunctionIdentifier(name), new ExpressionInfo(TableFunctions.class.getName(), name), plan);
  }

  /** One row with one column, {@code value}. */
  private static LogicalPlan row(String text) {
    Metadata mark = new MetadataBuilder().putBoolean(MARK, true).build();
    NamedExpression value =
        new Alias(new Literal(UTF8String.fromString(text), DataTypes.StringType), "value", NamedExpression.newExprId(), seq(), Option.apply(mark), seq());
    return new Project(seq(value), new OneRowRelation());
  }

  @SuppressWarnings("unchecked") // an empty list is one of all types
  private static <T> Seq<T> seq() {
    return (Seq<T>) Nil$.MODULE$;
  }

  @SuppressWarnings("unchecked") // an empty list is one of all types
  private static <T> Seq<T> seq(T value) {
    return new $colon$colon<>(value, (scala.collection.immutable.List<T>) Nil$.MODULE$);
  }
}

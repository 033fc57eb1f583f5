return {
  title = "reports",
  summary = "",
  text = [[

]],
}

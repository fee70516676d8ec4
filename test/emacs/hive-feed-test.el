;;; hive-feed-test.el --- Fetching the pending questions, and trying again  -*- lexical-binding: t; -*-

;; Tags: state-not-events

(require 'cl-lib)
(require 'ert)
(require 'hive-model)

(defmacro hive-feed-test-with (answer &rest body)
  "Run BODY with a sidecar that does ANSWER, a function of the callbacks.
`delays' holds after how many seconds it was to be tried again."
  (declare (indent 1) (debug t))
  `(let ((delays nil) (hive-model--retry-timer nil) (hive-model--delay 2)
         (hive-rpc--fetches (make-hash-table :test #'equal)))
     (cl-letf (((symbol-function 'hive-rpc-request)
                (lambda (_method _params &rest keys)
                  (funcall ,answer (plist-get keys :success) (plist-get keys :error))))
               ((symbol-function 'hive-rpc-log) #'ignore)
               ((symbol-function 'hive-model-replace) #'ignore)
               ((symbol-function 'run-at-time)
                (lambda (seconds &rest _)
                  (push seconds delays)
                  ;; One that never runs by itself.
                  (timer-create))))
       ,@body)))

(defun hive-feed-test-fail (_success error)
  "Call ERROR: the store is busy."
  (funcall error '(:code -32001 :name store_busy :text "Later")))

(ert-deftest hive-feed-a-failed-snapshot-is-retried-with-growing-delays ()
  (hive-feed-test-with #'hive-feed-test-fail
    (dotimes (_ 8) (hive-model-refresh))
    (should (equal '(2 4 8 16 32 60 60 60) (nreverse delays)))
    ;; Until then no command reports an empty list.
    (should-not (hive-model-complete-p))))

(ert-deftest hive-feed-a-success-resets-the-delay ()
  (let ((answers (list #'hive-feed-test-fail #'hive-feed-test-fail
                       (lambda (success _error) (funcall success '(:prompts [] :next_cursor nil)))
                       #'hive-feed-test-fail)))
    (hive-feed-test-with (lambda (success error) (funcall (pop answers) success error))
      (dotimes (_ 3) (hive-model-refresh))
      (should (hive-model-complete-p))
      (hive-model-refresh)
      (should (equal '(2 4 2) (nreverse delays))))))

(ert-deftest hive-feed-is-not-retried-after-a-stop ()
  (let ((cancelled nil))
    (hive-feed-test-with #'hive-feed-test-fail
      (cl-letf (((symbol-function 'cancel-timer) (lambda (timer) (push timer cancelled))))
        (hive-model-refresh)
        (let ((timer hive-model--retry-timer))
          (should timer)
          (hive-model-stop)
          (should (equal (list timer) cancelled))
          (should-not hive-model--retry-timer)
          (should (hive-model-complete-p)))))))

(ert-deftest hive-feed-without-a-connection-the-next-one-fetches ()
  (hive-feed-test-with (lambda (_success error) (funcall error '(:code -1 :name disconnected :text "")))
    (hive-model-refresh)
    (should-not delays)))
